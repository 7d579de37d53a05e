import type { ServedGenerator } from './api.ts';
import { upstreamOf } from './form/served-form.ts';

type Props = { served: ServedGenerator | undefined; ownOnly: boolean };

/** Who draws, and whether the prompt leaves this installation. */
export function DrawnBy({ served, ownOnly }: Props) {
  const upstream = upstreamOf(served, ownOnly);
  return (
    <p className="text-balance text-center text-[0.8125rem] text-muted">
      {upstream ? (
        <>
          Drawn by {upstream.title}: your prompt leaves this installation.{' '}
          <span className="break-all font-mono text-xs">{upstream.model}</span>
        </>
      ) : (
        'Drawn on this installation: your prompt stays here.'
      )}
    </p>
  );
}
