// Draws noise and sampling apart.

import { drawUncertainty } from "/static/explorer/chart.js";

const place = document.getElementById("figure");
drawUncertainty(place, JSON.parse(place.dataset.figure)).then(() => { place.dataset.drawn = "yes"; });
