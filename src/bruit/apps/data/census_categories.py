"""The categories that UCI Adult's publisher lists for each categorical column, and `?` where it occurs."""

CATEGORIES = {
    name: tuple(listed.split())
    for name, listed in {
        "workclass": "? Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc State-gov Without-pay",
        "education": "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate HS-grad "
        "Masters Preschool Prof-school Some-college",
        "marital-status": "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married Separated "
        "Widowed",
        "occupation": "? Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing Handlers-cleaners "
        "Machine-op-inspct Other-service Priv-house-serv Prof-specialty Protective-serv Sales Tech-support "
        "Transport-moving",
        "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
        "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
        "sex": "Female Male",
        "native-country": "? Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France "
        "Germany Greece Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran Ireland Italy Jamaica "
        "Japan Laos Mexico Nicaragua Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland "
        "South Taiwan Thailand Trinadad&Tobago United-States Vietnam Yugoslavia",
        "income": "<=50K >50K",
    }.items()
}
"""Known before seeing anybody's record: 9, 16, 7, 15, 6, 5, 2, 42 and 2 answers."""
