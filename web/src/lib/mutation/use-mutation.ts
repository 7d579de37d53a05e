import {
  type DefaultError,
  replaceEqualDeep,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation as useUnguarded,
} from '@tanstack/react-query';
import { useCallback, useState } from 'react';

type UnderWay<Data> = { variables: unknown; answer: Promise<Data> };

/**
 * TanStack Query's `useMutation` that does not begin again what is under way with the same variables: two clicks can
 * come before the button has heard of the first. The second has no effect, and no callbacks of its own. After `reset` it
 * begins anew: the callbacks of what is still under way are not called any more.
 */
export function useMutation<Data = unknown, Failure = DefaultError, Variables = void, Before = unknown>(
  options: UseMutationOptions<Data, Failure, Variables, Before>,
): UseMutationResult<Data, Failure, Variables, Before> {
  const mutation = useUnguarded(options);
  const { mutateAsync: begin, reset: forget } = mutation;
  const [underWay] = useState(() => new Set<UnderWay<Data>>());
  const mutateAsync = useCallback<typeof begin>(
    (...args) => {
      const [variables] = args;
      for (const one of underWay) if (isSame(one.variables, variables)) return one.answer;
      const one = { variables, answer: begin(...args) };
      underWay.add(one);
      const end = () => underWay.delete(one);
      one.answer.then(end, end);
      return one.answer;
    },
    [begin, underWay],
  );
  const mutate = useCallback<typeof mutation.mutate>(
    (...args) => void mutateAsync(...args).catch(() => undefined),
    [mutateAsync],
  );
  const reset = useCallback(() => {
    underWay.clear();
    forget();
  }, [forget, underWay]);
  return { ...mutation, mutate, mutateAsync, reset };
}

/** By value; a file and a function are the same only as themselves. */
function isSame(a: unknown, b: unknown): boolean {
  return replaceEqualDeep(a, b) === a;
}
