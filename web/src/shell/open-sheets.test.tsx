import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Sheet } from '../lib/sheet.ts';
import { OpenSheets } from './open-sheets.tsx';

const state = vi.hoisted(() => ({
  opened: null as { name: string; params: Record<string, string> } | null,
  isThere: false,
}));

vi.mock('../lib/sheet.ts', () => ({
  useOpenSheet: () => state.opened,
  useSheets: () => ({ open: () => undefined, close: () => (state.opened = null) }),
}));
vi.mock('../modules/assets/sheets.tsx', async () => {
  const { loadable } = await import('../lib/loadable.tsx');
  type Props = { open: boolean };
  const Draft = loadable<Props>(async () => ({ open }) => <input aria-label="Draft" hidden={!open} />);
  const Payment = loadable<Props>(async () => {
    if (!state.isThere) throw new TypeError('Failed to fetch dynamically imported module');
    return ({ open }) => open && <p>The payment</p>;
  });
  const assetSheets = [
    { name: 'draft', label: 'Draft', preload: Draft.preload, render: Draft },
    { name: 'payment', label: 'Payment', preload: Payment.preload, render: Payment },
  ] as unknown as Sheet[];
  return { assetSheets };
});
vi.mock('../modules/training/sheets.tsx', () => ({ trainingSheets: [] }));
vi.mock('../modules/credits/sheets.tsx', () => ({ creditsSheets: [] }));
vi.mock('../modules/contact/sheets.tsx', () => ({ contactSheets: [] }));
vi.mock('./shortcuts/sheets.tsx', () => ({ shellSheets: [] }));
// The build is current.
vi.mock('../lib/served-build.ts', () => ({ isOutdated: async () => false }));

beforeEach(() => {
  state.opened = null;
  state.isThere = false;
  vi.spyOn(console, 'error').mockReturnValue();
});

/** Opens the sheet with this name, or none. */
function show() {
  const { rerender } = render(<OpenSheets />);
  return (name: string | null) => {
    state.opened = name === null ? null : { name, params: {} };
    return act(async () => rerender(<OpenSheets />));
  };
}

const failed = () => screen.findByText('This form could not be loaded');

test('a sheet that fails to load does not affect other sheets', async () => {
  const open = show();
  await open('draft');
  await userEvent.type(await screen.findByLabelText('Draft'), 'half a sentence');
  await open('payment');
  await failed();
  await open('draft');
  expect(screen.queryByText('This form could not be loaded')).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>('Draft').value).toBe('half a sentence');
});

test('a sheet that failed to load is retried when it is opened again', async () => {
  const open = show();
  await open('payment');
  await failed();
  await open(null);
  state.isThere = true;
  await open('payment');
  expect(await screen.findByText('The payment')).toBeTruthy();
});
