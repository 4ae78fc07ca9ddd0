// Browsers refuse workers to pages opened from disk. There, search runs in a hidden frame that answers as a worker does.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #waiting = [];
    #ready = false;

    constructor(url) {
      super();
      this.url = url;
      this.#frame.hidden = true;
      this.#frame.title = "search";
      document.body.appendChild(this.#frame);
      const inner = this.#frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => this.#load(one)), Promise.resolve());
      this.#load(url).then(() => {
        this.#ready = true;
        this.#waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    #load(url) {
      return new Promise((loaded, failed) => {
        const script = this.#frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = failed;
        this.#frame.contentDocument.body.appendChild(script);
      });
    }

    postMessage(data) {
      if (!this.#ready) {
        this.#waiting.push(data);
        return;
      }
      const inner = this.#frame.contentWindow;
      inner.dispatchEvent(new inner.MessageEvent("message", { data }));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
