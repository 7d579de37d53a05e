import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { replaceLostKey } from './sign-in-calls.ts';

/** Shown to a signed-in user whose API key the server can no longer show. */
export function KeyLostForm({ onDone }: { onDone: () => Promise<void> }) {
  const replace = useMutation({ mutationFn: replaceLostKey, onSuccess: onDone, meta: { inPlace: true } });
  return (
    <div className="grid gap-4">
      {replace.error && <Callout tone="bad">{errorMessage(replace.error)}</Callout>}
      <p className="text-muted">
        This server’s secret was replaced, so it can no longer show your API key, which this page needs.
        Programs that use the key keep working until you create a new one.
      </p>
      <Button variant="primary" loading={replace.isPending} onClick={() => replace.mutate()}>
        Create a new key
      </Button>
    </div>
  );
}
