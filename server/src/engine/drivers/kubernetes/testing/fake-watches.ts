import type http from 'node:http';
import { type Change, type FakeStore, isSelected } from './fake-store.ts';

type Watcher = { collection: string; selector: string; response: http.ServerResponse };

/** Watches on a store: each receives the changes since its resource version, and all later ones. */
export class FakeWatches {
  private readonly store: FakeStore;
  private readonly watchers = new Set<Watcher>();

  constructor(store: FakeStore) {
    this.store = store;
    store.onChange = (change) => {
      for (const watcher of this.watchers) if (isSeenBy(watcher, change)) send(watcher.response, change);
    };
  }

  open(url: URL, response: http.ServerResponse): void {
    const from = Number(url.searchParams.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    if (from < this.store.oldest) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'too old' } })}\n`);
      return;
    }
    const selector = url.searchParams.get('labelSelector') ?? '';
    const watcher = { collection: url.pathname, selector, response };
    for (const change of this.store.history)
      if (change.version > from && isSeenBy(watcher, change)) send(response, change);
    this.watchers.add(watcher);
    response.flushHeaders();
    response.on('close', () => this.watchers.delete(watcher));
  }

  cut(): void {
    for (const { response } of this.watchers) response.destroy();
  }
}

function isSeenBy({ collection, selector }: Watcher, change: Change): boolean {
  return change.collection === collection && isSelected(change.object, selector);
}

function send(response: http.ServerResponse, { type, object }: Change): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}
