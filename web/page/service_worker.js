// The page without a network: everything it is made of, kept under the version of what it is made of.
const VERSION = "@VERSION@";
const FILES = ["./", @FILES@];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(caches.keys()
      .then((names) => Promise.all(names.filter((name) => name !== VERSION).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).pathname.includes("/api/")) return;
  event.respondWith(caches.open(VERSION).then((cache) => cache.match(event.request, {ignoreSearch: true}))
      .then((kept) => kept ?? fetch(event.request)));
});
