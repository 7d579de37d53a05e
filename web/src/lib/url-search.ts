import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Parses one search parameter; undefined if it is invalid. */
type Param<Value> = (value: unknown) => Value | undefined;

/** Non-empty text. The router parses digits as a number. */
export const text: Param<string> = (value) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;

/** One of the values. */
export const oneOf =
  <const Value>(...values: readonly Value[]): Param<Value> =>
  (value) =>
    values.find((one) => one === value);

/** Text that matches. */
export const matching =
  (pattern: RegExp): Param<string> =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;

export const uuid = matching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);

/**
 * Returns a route's `validateSearch`. Invalid parameters become undefined instead of missing, because the router
 * keeps the raw value of a missing one. Not a Zod schema: the library would add 6 kB to every first screen.
 */
export function searchSchema<Values extends object>(
  params: { [Name in keyof Values]-?: Param<Values[Name]> },
) {
  const parsers = Object.entries<Param<unknown>>(params);
  return (search: Record<string, unknown>) =>
    Object.fromEntries(parsers.map(([name, parse]) => [name, parse(search[name])])) as Partial<Values>;
}

/** The parameters that a `searchSchema` returns. */
export type SearchOf<Schema extends (search: Record<string, unknown>) => object> = ReturnType<Schema>;

/**
 * Returns the page's search parameters, and a function that changes some of them and replaces the history entry
 * by default. An empty value removes its parameter.
 */
export function useUrlSearch<Search extends object>() {
  const navigate = useNavigate();
  const search: object = useSearch({ strict: false });
  const change = useCallback(
    (changed: Partial<Search>, how: { replace?: boolean; resetScroll?: boolean } = {}) => {
      const next = Object.entries(changed).map(([name, value]) => [name, value === '' ? undefined : value]);
      const merge = (previous: object) => ({ ...previous, ...Object.fromEntries(next) });
      void navigate({ to: '.', search: merge as never, replace: true, ...how });
    },
    [navigate],
  );
  return [search as Search, change] as const;
}
