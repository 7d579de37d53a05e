import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentType } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Sheet } from '../lib/sheet.ts';
import { OpenSheets } from './open-sheets.tsx';

const state = vi.hoisted(() => ({
  opened: null as { name: string; params: Record<string, string> } | null,
}));

vi.mock('../lib/sheet.ts', () => ({
  useOpenSheet: () => state.opened,
  useSheets: () => ({ open: () => undefined, close: () => (state.opened = null) }),
}));
vi.mock('../modules/datasets/sheets.tsx', async () => {
  const { lazy } = await import('react');
  type Props = { open: boolean };
  const Draft = ({ open }: Props) => <input aria-label="Draft" hidden={!open} />;
  const Payment = lazy<ComponentType<Props>>(() =>
    Promise.reject(new TypeError('Failed to fetch dynamically imported module')),
  );
  const preload = async () => undefined;
  const assetSheets = [
    { name: 'draft', label: 'Draft', preload, render: Draft },
    { name: 'payment', label: 'Payment', preload, render: Payment },
  ] as unknown as Sheet[];
  return { assetSheets };
});
vi.mock('../modules/fine-tuning/sheets.tsx', () => ({ trainingSheets: [] }));
vi.mock('../modules/billing/sheets.tsx', () => ({ creditsSheets: [] }));
vi.mock('../modules/contact/sheets.tsx', () => ({ contactSheets: [] }));
vi.mock('./shortcuts/sheets.tsx', () => ({ shellSheets: [] }));

beforeEach(() => {
  state.opened = null;
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

test('a sheet that fails to load does not affect other sheets', async () => {
  const open = show();
  await open('draft');
  await userEvent.type(await screen.findByLabelText('Draft'), 'half a sentence');
  await open('payment');
  await screen.findByText('This part of the page could not be loaded');
  await open('draft');
  expect(screen.queryByText('This part of the page could not be loaded')).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>('Draft').value).toBe('half a sentence');
});
