import type { RouteComponent } from '@tanstack/react-router';
import { type ComponentType, type FunctionComponent, use } from 'react';
import { isOnline } from './live/online.ts';

/** Delays between attempts to load a chunk, in milliseconds. */
const RETRY_MS = [300, 1_200];

/** A chunk that failed to load. */
export class LoadError extends Error {
  /** Consecutive failures, each after its own retries. */
  readonly failures: number;
  /** Loads the chunk again; resolves when the component can render again. */
  readonly retry: () => Promise<void>;

  constructor(cause: unknown, failures: number, retry: () => Promise<void>) {
    super('This part of Bakehouse could not be fetched.', { cause });
    this.name = 'LoadError';
    this.failures = failures;
    this.retry = retry;
  }
}

/** Suspends while its code loads; throws a `LoadError` if that fails. */
export type Loadable<Props> = FunctionComponent<Props> & {
  preload: () => Promise<void>;
  isLoaded: () => boolean;
};

/**
 * A lazily loaded component. Unlike `React.lazy`, a failed load can be retried, and unlike the router's lazy
 * routes it never reloads the page, which could end on the browser's error page.
 */
export function loadable<Props extends object>(load: () => Promise<ComponentType<Props>>): Loadable<Props> {
  let Loaded: ComponentType<Props> | null = null;
  let loading: Promise<void> | null = null;
  let failure: LoadError | null = null;
  let failures = 0;

  /** Never rejects: rendering the component throws the failure. */
  function preload(): Promise<void> {
    if (loading && !failure) return loading;
    failure = null;
    const fetching = persistently(load).then(
      (component) => {
        Loaded = component;
      },
      (error: unknown) => {
        failures += 1;
        failure = new LoadError(error, failures, preload);
      },
    );
    loading = fetching;
    // React reads these fields: components don't suspend on a settled promise.
    void fetching.then(() => Object.assign(fetching, { status: 'fulfilled', value: undefined }));
    return fetching;
  }

  function LoadableComponent(props: Props) {
    // Call `use` even if already loaded: React requires a component that suspended to call it on every
    // render.
    use(loading ?? preload());
    if (failure) throw failure;
    return Loaded && <Loaded {...props} />;
  }
  return Object.assign(LoadableComponent, { preload, isLoaded: () => Loaded !== null });
}

/**
 * A lazily loaded page. Selected by name, not by a function, so that the route types don't depend on the page
 * types, which use them.
 */
export function pageComponent<Module>(
  load: () => Promise<Module>,
  name: keyof Module & string,
): RouteComponent {
  return loadable(async () => (await load())[name] as FunctionComponent);
}

async function persistently<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  for (const delay of RETRY_MS) {
    try {
      return await load();
    } catch (error) {
      // Offline, fail immediately; reconnecting starts a new load.
      if (!isOnline()) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
  return load();
}
