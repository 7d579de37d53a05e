import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';

/** The side sheets by name, and what each can be opened with. Every module adds its own. */
// oxlint-disable-next-line typescript/no-empty-object-type -- an interface, because only that can be added to
export interface Sheets {}
export type SheetName = keyof Sheets;

/** A sheet as the shell shows it: over any page, opened by the URL, so that Back closes it. */
export type Sheet = {
  name: SheetName;
  /** Its title. */
  label: string;
  /** The page whose item in the sidebar is marked while it is open. */
  page?: string;
  /** Fetches its code. */
  preload: () => Promise<void>;
  /** `params` stand in the URL: anything may be in them. */
  render: (props: { open: boolean; onClose: () => void; params: Record<string, string> }) => ReactNode;
};

const NAME = 'sheet';
const PREFIX = 'sheet.';

/** The search parameters that the router keeps for sheets: `?sheet=create-model&sheet.dataset=…`. */
export function parseSheetSearch(search: Record<string, unknown>): { sheet?: string } {
  if (typeof search[NAME] !== 'string') return {};
  return Object.fromEntries(
    Object.entries(search).filter(([key, value]) => isOfSheet(key) && typeof value === 'string'),
  );
}

/** The sheet that these search parameters open, and what it is opened with. */
export function sheetOf(
  search: Record<string, unknown>,
): { name: string; params: Record<string, string> } | null {
  const { sheet, ...rest } = parseSheetSearch(search);
  if (sheet === undefined) return null;
  const params = Object.entries(rest).map(([key, value]) => [key.slice(PREFIX.length), value]);
  return { name: sheet, params: Object.fromEntries(params) };
}

/** The sheet that is open; null without one. */
export function useOpenSheet(): ReturnType<typeof sheetOf> {
  const search: Record<string, unknown> = useSearch({ strict: false });
  return sheetOf(search);
}

export type SheetControl = {
  open: <Name extends SheetName>(name: Name, params?: Sheets[Name]) => void;
  /** Another one that is open by then stays. */
  close: (name: SheetName) => void;
};

type Search = Record<string, unknown>;

/** Opens a sheet over the present page, or closes it; the page's own search parameters stay. */
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
      // In the place of the open one: Back must not open it again.
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
