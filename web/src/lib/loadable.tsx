import type { RouteComponent } from '@tanstack/react-router';
import { type ComponentType, type FunctionComponent, use } from 'react';
import { isOnline } from './live/online.ts';

/** Milliseconds before a piece of the app is asked for again. */
const RETRY_MS = [300, 1_200];

/** A piece of the app that could not be fetched. */
export class LoadError extends Error {
  /** How often in a row it could not be had, each time with its retries. */
  readonly failures: number;
  /** Fetches it again; then whoever shows it may render again. */
  readonly retry: () => Promise<void>;

  constructor(cause: unknown, failures: number, retry: () => Promise<void>) {
    super('This part of Bakehouse could not be fetched.', { cause });
    this.name = 'LoadError';
    this.failures = failures;
    this.retry = retry;
  }
}

/** Waits for its code while it is fetched; throws a `LoadError` when that fails. */
export type Loadable<Props> = FunctionComponent<Props> & {
  preload: () => Promise<void>;
  isLoaded: () => boolean;
};

/**
 * A component with a chunk of its own. Unlike `React.lazy` it can be fetched again after a failure, and
 * unlike the router's own way it never reloads the page, which would end on the browser's error page.
 */
export function loadable<Props extends object>(load: () => Promise<ComponentType<Props>>): Loadable<Props> {
  let Loaded: ComponentType<Props> | null = null;
  let loading: Promise<void> | null = null;
  let failure: LoadError | null = null;
  let failures = 0;

  /** Never rejects: a failure is reported where the component is shown. */
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
    // What React reads of a promise: one that has ended makes no component wait.
    void fetching.then(() => Object.assign(fetching, { status: 'fulfilled', value: undefined }));
    return fetching;
  }

  function LoadableComponent(props: Props) {
    // Also when all is there: React wants every render of a component that has waited to ask again.
    use(loading ?? preload());
    if (failure) throw failure;
    return Loaded && <Loaded {...props} />;
  }
  return Object.assign(LoadableComponent, { preload, isLoaded: () => Loaded !== null });
}

/** A page with a chunk of its own. It is named and not picked, so that the routes' types do not hang on those of the pages, which use them. */
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
      // Nobody is there to give it: whoever waits hears that at once, and the return of the server starts anew.
      if (!isOnline()) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
  return load();
}
