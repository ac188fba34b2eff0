"""How far one person moves the exact integers of everything, walked over small tables."""
