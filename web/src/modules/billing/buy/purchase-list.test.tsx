import type { Purchase } from '@bakehouse/contract/purchases';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { PurchaseList } from './purchase-list.tsx';

const paid: Purchase = {
  id: 'p1',
  status: 'paid',
  usd: '10.00',
  amount: '250',
  reversed: '0',
  receipt_url: 'https://pay.example/receipt',
  created_at: '2026-11-20T08:00:00.000Z',
  paid_at: '2026-11-20T08:01:00.000Z',
};

const allRead = {
  hasNextPage: false,
  isFetchingNextPage: false,
  isFetchNextPageError: false,
  error: null,
  isFetching: false,
  fetchNextPage: vi.fn<() => void>(),
};

test('loads older purchases below the listed ones', () => {
  const fetchNextPage = vi.fn<() => void>();
  render(<PurchaseList purchases={[paid]} pages={{ ...allRead, hasNextPage: true, fetchNextPage }} />);
  fireEvent.click(screen.getByRole('button', { name: 'Load more' }));
  expect(fetchNextPage).toHaveBeenCalled();
});

test('a receipt is visible in a narrow window', () => {
  render(<PurchaseList purchases={[paid]} pages={allRead} />);
  const receipt = screen.getByRole('link', { name: /^Receipt/ });
  expect(receipt.getAttribute('href')).toBe(paid.receipt_url);
  expect(receipt.closest('[class*="hidden"]')).toBeNull();
});
