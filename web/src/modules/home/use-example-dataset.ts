import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { refreshSession } from '../accounts/session.ts';

/** Gives the user the example dataset; resolves with its id. */
export function useExampleDataset() {
  const keys = useIdempotencyKeys('example');
  return useMutation({
    mutationFn: async (userId: string) => {
      // Uploads bring far more code than the first screen needs.
      const { makeExample } = await import('./make-example.ts');
      return makeExample(userId, keys.keyFor(userId));
    },
    onSuccess: (_made, userId) => {
      keys.renew(userId);
      void refreshSession().catch(() => undefined);
    },
  });
}
