import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, render, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { parseOpenSheet, parseSheetSearch, type SheetControl, useSheets } from './sheet.ts';

test('keeps sheet parameters and drops the rest', () => {
  const search = {
    sheet: 'create-model',
    'sheet.dataset': 'd1',
    'sheet.round': 7,
    dataset: 'd2',
    tab: 'files',
  };
  expect(parseSheetSearch(search)).toEqual({ sheet: 'create-model', 'sheet.dataset': 'd1' });
  expect(parseSheetSearch({ 'sheet.dataset': 'd1' })).toEqual({});
});

test('returns the open sheet and its parameters', () => {
  expect(parseOpenSheet({ sheet: 'create-model', 'sheet.dataset': 'd1', tab: 'files' })).toEqual({
    name: 'create-model',
    params: { dataset: 'd1' },
  });
  expect(parseOpenSheet({ tab: 'files' })).toBeNull();
});

test("a sheet closes only itself and keeps the page's search params", async () => {
  let sheets: SheetControl | undefined;
  const router = createRouter({
    routeTree: createRootRoute({
      component: function Page() {
        sheets = useSheets();
        return null;
      },
    }),
    history: createMemoryHistory({ initialEntries: ['/?tab=files&sheet=contact&sheet.round=1'] }),
  });
  render(<RouterProvider router={router as never} />);
  await waitFor(() => expect(sheets).toBeTruthy());
  const close = (name: 'contact' | 'create-model') => act(async () => sheets?.close(name));
  const search = () => [...new URLSearchParams(router.history.location.search).keys()];

  await close('create-model');
  expect(search()).toEqual(['tab', 'sheet', 'sheet.round']);
  await close('contact');
  await waitFor(() => expect(search()).toEqual(['tab']));

  await act(async () => sheets?.open('contact'));
  await waitFor(() => expect(search()).toEqual(['tab', 'sheet']));
  await close('contact');
  await waitFor(() => expect(search()).toEqual(['tab']));
  await act(async () => router.history.back());
  // Back doesn't reopen it.
  await waitFor(() => expect(router.history.location.state.__TSR_index).toBe(0));
  expect(search()).toEqual(['tab']);
});
