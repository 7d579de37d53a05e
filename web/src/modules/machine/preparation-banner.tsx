import type { Machine } from '@bakehouse/contract/machine';
import { ChevronDown, LoaderCircle, TriangleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useOnline } from '../../lib/online.ts';
import { queryClient } from '../../lib/query-client.ts';
import { Progress } from '../../ui/progress.tsx';
import { useMachine } from './api.ts';
import { summarisePreparations } from './summarise-preparations.ts';

/** One line about what the server still fetches in the background or could not; its parts on demand. Nothing when all is ready. */
export function PreparationBanner() {
  const { data } = useMachine();
  const open = data?.preparations.filter((preparation) => preparation.state !== 'ready') ?? [];
  // What a server that is away prepares, nobody knows.
  const online = useOnline();
  const summary = online ? summarisePreparations(open) : null;
  useNews(data && data.preparations.length - open.length);
  return (
    <div role="status" aria-label="Preparation of this machine">
      {summary && (
        <details className="strip group [--strip:var(--subtle)]">
          <summary className="mx-auto flex max-w-6xl list-none items-center gap-2.5 px-4 py-2.5 text-[0.8125rem] sm:px-8 [&::-webkit-details-marker]:hidden">
            {summary.failed ? (
              <TriangleAlert aria-hidden className="size-4 shrink-0 text-bad" />
            ) : (
              <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin text-accent-text" />
            )}
            <span className="min-w-0 flex-1 truncate">
              <span className="font-medium">{summary.title}</span>{' '}
              <span className="text-muted tabular-nums">{summary.text}</span>
            </span>
            <ChevronDown
              aria-hidden
              className="size-4 shrink-0 text-muted transition-transform group-open:rotate-180"
            />
          </summary>
          <div className="mx-auto max-w-6xl px-4 pb-4 sm:px-8">
            <p className="mb-3 text-[0.8125rem] text-muted">Everything else is ready to use.</p>
            <ul className="grid gap-x-10 gap-y-4 md:grid-cols-3">
              {open.map((preparation) => (
                <Preparation key={preparation.id} preparation={preparation} />
              ))}
            </ul>
          </div>
        </details>
      )}
    </div>
  );
}

/** Reads again what a preparation brings once it is ready: the starter model among the models, and one that answers. */
function useNews(ready: number | undefined): void {
  const before = useRef(ready);
  useEffect(() => {
    if (ready === undefined) return;
    if (before.current !== undefined && ready > before.current) {
      for (const family of ['asset', 'deployment']) {
        void queryClient.invalidateQueries({ queryKey: [family] });
      }
    }
    before.current = ready;
  }, [ready]);
}

function Preparation({ preparation }: { preparation: Machine['preparations'][number] }) {
  const { label, state, detail, progress } = preparation;
  const asides = { waiting: 'Waiting', failed: 'Failed', running: undefined, ready: undefined };
  return (
    <li>
      <Progress
        label={label}
        aside={asides[state]}
        value={state === 'running' ? (progress === null ? null : progress * 100) : (progress ?? 0) * 100}
      />
      {detail && (
        <p className={state === 'failed' ? 'mt-1.5 text-[0.8125rem] text-bad' : 'mt-1.5 text-muted text-xs'}>
          {detail}
        </p>
      )}
    </li>
  );
}
