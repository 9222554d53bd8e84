// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The first thing that runs: shows what the page is of.
const head = JSON.parse(document.getElementById("head").textContent);

document.querySelector("main").textContent = head.recording.file;
