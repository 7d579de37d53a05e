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
 * TanStack Query's `useMutation`, ignoring calls while one with equal variables is in flight: a second click
 * may come before the button is disabled. The ignored call's callbacks don't run. `reset` allows a new call
 * and drops the callbacks of the one in flight.
 */
export function useMutation<Data = unknown, Failure = DefaultError, Variables = void, Before = unknown>(
  options: UseMutationOptions<Data, Failure, Variables, Before>,
): UseMutationResult<Data, Failure, Variables, Before> {
  const mutation = useUnguarded(options);
  const { mutateAsync: begin, reset: resetMutation } = mutation;
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
    resetMutation();
  }, [resetMutation, underWay]);
  return { ...mutation, mutate, mutateAsync, reset };
}

/** Compares by value; files and functions by identity. */
function isSame(a: unknown, b: unknown): boolean {
  return replaceEqualDeep(a, b) === a;
}
