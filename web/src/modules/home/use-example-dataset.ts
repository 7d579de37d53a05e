import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { refreshSession } from '../accounts/session.ts';

/** Creates the example dataset for the user. Resolves with its id. */
export function useExampleDataset() {
  const keys = useIdempotencyKeys('example');
  return useMutation({
    mutationFn: async (userId: string) => {
      // The upload code is much larger than the first screen should load.
      const { makeExample } = await import('./make-example.ts');
      return makeExample(userId, keys.keyFor(userId));
    },
    onSuccess: (_made, userId) => {
      keys.renew(userId);
      void refreshSession().catch(() => undefined);
    },
  });
}
