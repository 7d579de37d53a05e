import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';

/** All side sheets by name, with their parameters. Modules extend it. */
// oxlint-disable-next-line typescript/no-empty-object-type -- an interface, because only that can be added to
export interface Sheets {}
export type SheetName = keyof Sheets;

/** A sheet that opens over any page. The URL controls it, so Back closes it. */
export type Sheet = {
  name: SheetName;
  label: string;
  /** The page whose sidebar item is highlighted while the sheet is open. */
  page?: string;
  /** Loads its code. */
  preload: () => Promise<unknown>;
  /** `params` are untrusted: anyone can edit the URL. */
  render: (props: { open: boolean; onClose: () => void; params: Record<string, string> }) => ReactNode;
};

const NAME = 'sheet';
const PREFIX = 'sheet.';

/** Returns the search parameters that belong to sheets: `?sheet=create-model&sheet.dataset=…`. */
export function parseSheetSearch(search: Record<string, unknown>): { sheet?: string } {
  if (typeof search[NAME] !== 'string') return {};
  return Object.fromEntries(
    Object.entries(search).filter(([key, value]) => isOfSheet(key) && typeof value === 'string'),
  );
}

/** Returns the sheet that the search parameters open, with its parameters. */
export function parseOpenSheet(
  search: Record<string, unknown>,
): { name: string; params: Record<string, string> } | null {
  const { sheet, ...rest } = parseSheetSearch(search);
  if (sheet === undefined) return null;
  const params = Object.entries(rest).map(([key, value]) => [key.slice(PREFIX.length), value]);
  return { name: sheet, params: Object.fromEntries(params) };
}

/** Returns the open sheet, or null. */
export function useOpenSheet(): ReturnType<typeof parseOpenSheet> {
  const search: Record<string, unknown> = useSearch({ strict: false });
  return parseOpenSheet(search);
}

export type SheetControl = {
  open: <Name extends SheetName>(name: Name, params?: Sheets[Name]) => void;
  /** Does nothing if another sheet is open by then. */
  close: (name: SheetName) => void;
};

type Search = Record<string, unknown>;

/** Opens and closes sheets over the current page, keeping the page's own search parameters. */
export function useSheets(): SheetControl {
  const navigate = useNavigate();
  return useMemo(() => {
    const go = (search: (previous: Search) => Search, replace = false) =>
      void navigate({ to: '.', search, replace, resetScroll: false } as Parameters<typeof navigate>[0]);
    return {
      open: (name, params) =>
        go((previous) => ({
          ...withoutSheet(previous),
          [NAME]: name,
          ...Object.fromEntries(Object.entries(params ?? {}).map(([key, value]) => [PREFIX + key, value])),
        })),
      // Replace, so that Back doesn't reopen the sheet.
      close: (name) => go((previous) => (previous[NAME] === name ? withoutSheet(previous) : previous), true),
    };
  }, [navigate]);
}

function withoutSheet(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([key]) => !isOfSheet(key)));
}

function isOfSheet(key: string): boolean {
  return key === NAME || key.startsWith(PREFIX);
}
