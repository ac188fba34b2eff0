# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # La réponse aléatoire, de la théorie à l’apprentissage
#
# Chaque personne détient une valeur parmi k. Avant qu’elle ne parte, une pièce décide si la vraie valeur ou une autre est envoyée.
# Nul ne peut être tenu pour responsable de ce qu’il a envoyé ; on peut pourtant compter la foule, et même apprendre d’elle.
# Ce carnet le démontre, le mesure sur les 48 842 personnes d’UCI Adult, et montre où l’apprentissage échoue et comment la
# connaissance du canal le répare.

# %%
# Sur un service en ligne : cette cellule installe bruit une fois ; s'il est déjà installé, rien ne se passe.
import importlib.util
import os

REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")  # le dossier du dépôt dont ce carnet fait partie
if importlib.util.find_spec("bruit") is None:
    get_ipython().run_line_magic("pip", f"install --quiet '{REPOSITORY}[learn,plot]'")
SMALL = "BRUIT_SMALL" in os.environ  # les tests du projet exécutent tout en petite taille

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from bruit.apps import data, plots
from bruit.apps.data.census_categories import CATEGORIES
from bruit.learning import ChannelNaiveBayes, ChannelTree, Questionnaire, RandomisedForest
from bruit.local import KRR

plt.rcParams.update(plots.notebook_style(7, 4))
rng = np.random.default_rng(0)  # pour que les figures se répètent ; une vraie enquête n'en donne pas
REPEATS = 3 if SMALL else 10
PEOPLE = 4_000 if SMALL else None

# %% [markdown]
# ## Le canal
#
# La réponse aléatoire à k valeurs garde la valeur avec probabilité $p = e^\varepsilon/(k-1+e^\varepsilon)$, et en envoie sinon une autre, chacune avec
# probabilité $q = 1/(k-1+e^\varepsilon)$. Pour tout rapport $y$ et toutes valeurs $x, x'$, le quotient $\Pr[y\mid x]/\Pr[y\mid x']$ est au plus
# $p/q = e^\varepsilon$ : c’est l’ε-confidentialité différentielle, sans tiers de confiance.

# %%
EPSILON = 1.0
k = 7
p = np.exp(EPSILON) / (k - 1 + np.exp(EPSILON))
q = 1 / (k - 1 + np.exp(EPSILON))
print(f"p = {p:.4f}, q = {q:.4f}, p/q = {p / q:.4f} = e^ε")

# %% [markdown]
# ## L’estimateur est sans biais
#
# Soient $f_i$ personnes qui détiennent la valeur $i$, et $r_i$ rapports qui disent $i$. Qui la détient répond $i$ avec probabilité $p$, les
# autres avec probabilité $q$ :
#
# $$\mathbb{E}\,r_i = p f_i + q(N-f_i) \quad\Rightarrow\quad \hat f_i = \frac{r_i - qN}{p-q} = \frac{(k-1+e^\varepsilon)\,r_i - N}{e^\varepsilon-1}, \qquad \mathbb{E}\,\hat f_i = f_i.$$
#
# Sa variance est celle de $N$ pièces indépendantes, divisée par $(p-q)^2$ :
#
# $$\mathrm{Var}\,\hat f_i = \frac{f_i\,p(1-p) + (N-f_i)\,q(1-q)}{(p-q)^2}.$$
#
# ## Expérience A : la situation matrimoniale à ε = 1
#
# Une enquête auprès de tous : l’estimation et son intervalle, à côté de la vérité.

# %%
adult = data.adult("all")
truth = adult["marital-status"].value_counts(sort=True)
labels, counts = truth["marital-status"].to_list(), truth["count"].to_numpy()
N = counts.sum()
krr = KRR(labels, epsilon=EPSILON)
one = krr.estimate(krr.tally(krr.randomise(adult["marital-status"], rng=rng)))
print(one.frame().with_columns(truth=counts / N))

# %%
places = np.arange(k)
fig, axes = plt.subplots()
axes.barh(places, counts / N, alpha=0.4, label="vérité")
value, low, high = (np.clip(ends, 0, 1) for ends in (one.value, one.interval.low, one.interval.high))  # shares
axes.errorbar(
    value,
    places,
    xerr=[np.maximum(value - low, 0), np.maximum(high - value, 0)],
    fmt="o",
    capsize=3,
    label="une enquête, 95 %",
)
axes.set(yticks=places, yticklabels=labels, xlabel="proportion", title="Une enquête à ε = 1")
plots.write_commas(axes)
axes.invert_yaxis()
plots.legend_above(axes)
plt.show()

# %% [markdown]
# L’intervalle est-il honnête ? Répétons l’enquête et comparons la dispersion à la formule. La ligne imprimée sous la figure est le
# biais en unités de sa propre erreur type : des nombres d’au plus deux ou trois veulent dire *sans biais*.

# %%
surveys = 40 if SMALL else 400
everybody = np.repeat(np.arange(k), counts)
plain = KRR(k, epsilon=EPSILON)
estimates = np.array([plain.estimate(plain.tally(plain.randomise(everybody, rng=rng))).value for _ in range(surveys)])
theory = np.sqrt((q * (1 - q) / (p - q) ** 2 + counts / N * (1 - p - q) / (p - q)) / N)
fig, axes = plt.subplots()
axes.errorbar(
    places,
    estimates.std(axis=0, ddof=1),
    estimates.std(axis=0) * 2 / np.sqrt(2 * surveys),
    fmt="o",
    capsize=3,
    label="mesuré",
)
axes.plot(places, theory, "s", fillstyle="none", label="théorie")
axes.set(xticks=places, ylabel="écart type d’une proportion", ylim=(0, None), title="De combien s’écarte une enquête")
axes.set_xticklabels(labels, rotation=25, ha="right")
plots.write_commas(axes)
plots.legend_above(axes)
plt.show()
print(np.abs(estimates.mean(axis=0) - counts / N) / theory * np.sqrt(surveys))

# %% [markdown]
# ## Expérience B : apprendre de ce qui a été envoyé
#
# Prédire la situation matrimoniale à partir de sept autres réponses. Les personnes d’entraînement envoient les sept et l’étiquette,
# celles de test les sept, chacune par son canal à ε. Les pertes s’additionnent : 8ε pour l’entraînement, 7ε pour le test.
# Un résultat « à ε = 1 » est donc un résultat à 8 et 7 au total.

# %%
ATTRIBUTES = ("workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
LABEL = "marital-status"
training, test = data.adult("training"), data.adult("test")
training = training if PEOPLE is None else training.head(PEOPLE)
asked = Questionnaire({name: CATEGORIES[name] for name in (*ATTRIBUTES, LABEL)}, label=LABEL, epsilon=1.0)
print(
    "pour une personne d’entraînement, pour une personne de test\N{NO-BREAK SPACE}: "
    f"{float(asked.training_epsilon):.0f} et {float(asked.test_epsilon):.0f}"
)

# %% [markdown]
# ## Pourquoi les étiquettes de test restent intactes
#
# Tout ce que *les personnes envoient* est bruité : c’est le monde que l’on simule. Les étiquettes de test ne sont envoyées par
# personne ; elles sont l’étalon de l’expérimentateur. Jugé sur des étiquettes bruitées, un modèle juste avec probabilité $a$
# obtiendrait $q + (p-q)a$ : à ε = 0,1, tout tient entre 0,141 et 0,157. On mesurerait le bruit et non le modèle.
#
# ## Expérience C : l’exactitude selon ε
#
# La forêt du projet apprend les données bruitées comme si elles étaient vraies. Les deux autres connaissent le canal : le Bayes
# naïf inverse les comptes dont il est fait, l’arbre inverse les histogrammes de ses nœuds.


# %%
def accuracies(epsilon: float) -> dict[str, float]:
    """Une enquête auprès de tous, et la part de prédictions justes de chaque modèle sur les vraies étiquettes."""
    asked = Questionnaire({name: CATEGORIES[name] for name in (*ATTRIBUTES, LABEL)}, label=LABEL, epsilon=epsilon)
    sent = asked.randomise(training, rng=rng), asked.randomise_label(training[LABEL], rng=rng)
    received, true = asked.randomise(test, rng=rng), test[LABEL].to_numpy()
    models = {
        "forêt sur données bruitées": RandomisedForest(asked, n_estimators=10, random_state=int(rng.integers(2**31))),
        "Bayes naïf, inversé": ChannelNaiveBayes(asked),
        "arbre, inversé": ChannelTree(asked),
    }
    return {name: float((model.fit(*sent).predict(received) == true).mean()) for name, model in models.items()}


EPSILONS = (0.1, 1.0, 5.0) if SMALL else (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
rows = pl.DataFrame([{"epsilon": epsilon, **accuracies(epsilon)} for epsilon in EPSILONS for _ in range(REPEATS)])
summary = rows.group_by("epsilon", maintain_order=True).agg(
    pl.all().mean().name.suffix(" mean"), pl.all().std().name.suffix(" std")
)
print(summary)

# %%
fig, axes = plt.subplots()
for name in rows.columns[1:]:
    mean, spread = summary[f"{name} mean"].to_numpy(), summary[f"{name} std"].to_numpy()
    reach = np.minimum([mean, 1 - mean], spread)  # une proportion reste entre 0 et 1
    axes.errorbar(summary["epsilon"], mean, reach, marker="o", capsize=3, label=name)
majority = float((test[LABEL] == labels[0]).mean())
axes.axhline(majority, color="grey", linestyle="--", label="toujours la majorité")
axes.set(
    xlabel="ε par attribut",
    ylabel="exactitude sur les vraies étiquettes",
    xscale="log",
    title="Apprendre de réponses bruitées",
)
plots.label_plainly(axes.xaxis)
plots.write_commas(axes)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# La forêt apprend bien… le *bruit* : jusqu’à ε = 1 elle fait pire que de toujours nommer la majorité, car le *rapport* le plus
# fréquent devance à peine les autres. Les mêmes données, lues à travers l’inverse du canal, nomment le rapport le plus
# fréquent tant qu’il n’y a rien à apprendre : à partir de ε = 0,5 c’est la vraie majorité, en dessous ce peut être n’importe quelle
# situation, d’où les longues barres. `bruit study krr-learning` fait tout cela en grand.
#
# **Exercices.** (1) Montrer que la somme des estimations vaut N. (2) Quatre fois plus de personnes divisent l’erreur par deux : le
# vérifier. (3) Dépenser les 8ε sur l’étiquette et `relationship` seulement (`split=`) : que se passe-t-il, et pourquoi ?
