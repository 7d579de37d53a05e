import { listGenerations } from '@bakehouse/contract/generations';
import type { Notification } from '@bakehouse/contract/notifications';
import { countUnread, readNotifications } from '@bakehouse/contract/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { setNavigate } from '../../lib/navigation.ts';
import { generationOf } from '../gallery/testing/generation-of.ts';
import { NotificationBell } from './notification-bell.tsx';

vi.mock('../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
const page = vi.hoisted(() => ({ pathname: '/dashboard' }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useLocation: ({ select }: { select: (location: object) => unknown }) => select(page),
}));
const goTo = vi.fn<(path: string) => void>();
setNavigate(goTo);

/** Length of the first page. */
const PAGE_LENGTH = 50;
let stored: Notification[] = [];
beforeEach(() => {
  vi.mocked(call).mockImplementation(async (endpoint, input) => {
    if (endpoint === countUnread)
      return { unread: stored.filter(({ status }) => status === 'unread').length };
    if (endpoint === listGenerations)
      return { generations: [generationOf({ id: 'g1', prompt: 'A loaf\nof rye' })], next_cursor: null };
    if (endpoint !== readNotifications) return stored.slice(0, PAGE_LENGTH);
    const { notification_id } = (input as { query: { notification_id: string } }).query;
    stored = stored.map((one) =>
      notification_id === '' || one.notification_id === notification_id ? { ...one, status: 'read' } : one,
    );
    return { unread: 0 };
  });
});
afterEach(() => {
  queryClient.clear();
  page.pathname = '/dashboard';
});

const stubs = (count: number): Notification[] =>
  Array.from({ length: count }, (_, index) => ({
    notification_id: `n${index}`,
    kind: 'run_completed',
    message: `Model ${index} has finished training`,
    link: `/runs/r${index}`,
    amount: null,
    generation_id: null,
    status: 'unread',
    created_at: new Date().toISOString(),
  }));

function show(notifications: Notification[]) {
  stored = notifications;
  return render(
    <QueryClientProvider client={queryClient}>
      <NotificationBell />
    </QueryClientProvider>,
  );
}

it.each([
  [9, '9', '9'],
  [10, '9+', '10'],
  [100, '9+', '100 or more'],
])('shows %i unread as %s', async (count, badge, said) => {
  show(stubs(count));
  const bell = await screen.findByRole('button', { name: `Notifications, ${said} unread` });
  expect(within(bell).getByText(badge)).toBeTruthy();
});

it('reports that there are none', async () => {
  show([]);
  fireEvent.click(screen.getByRole('button', { name: 'Notifications' }));
  expect(await screen.findByText("You don't have any notifications.")).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Mark all as read' })).toBeNull();
});

it("'Mark all as read' empties the badge", async () => {
  show(stubs(3));
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 3 unread' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Mark all as read' }));
  expect(await screen.findByRole('button', { name: 'Notifications' })).toBeTruthy();
});

it('counts unread notifications beyond the first page', async () => {
  show(stubs(PAGE_LENGTH + 1).map((one, at) => ({ ...one, status: at < PAGE_LENGTH ? 'read' : 'unread' })));
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 1 unread' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Mark all as read' }));
  expect(await screen.findByRole('button', { name: 'Notifications' })).toBeTruthy();
});

it("opens a notification's subject and marks it as read", async () => {
  show(stubs(2));
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 2 unread' }));
  fireEvent.click(await screen.findByRole('link', { name: /Model 1 has finished training/ }));
  expect(goTo).toHaveBeenCalledWith('/runs/r1');
  expect(await screen.findByRole('button', { name: 'Notifications, 1 unread' })).toBeTruthy();
});

it('shows a notification of a kind that only a newer server knows', async () => {
  const [one] = stubs(1);
  show([{ ...one, kind: 'bread_baked', message: 'Your bread is baked' } as unknown as Notification]);
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 1 unread' }));
  expect(await screen.findByText('Your bread is baked')).toBeTruthy();
});

it.each([
  ['12.5', '12.50 BGL', '$0.50'],
  ['0.004', '0.0040 BGL', '$0.00016'],
])('shows an amount of %s BGL in the display currency', async (amount, inBgl, inDollars) => {
  const [one] = stubs(1);
  show([
    { ...one, kind: 'balance_low', message: `Your balance is down to ${inBgl}`, amount } as Notification,
  ]);
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 1 unread' }));
  expect(await screen.findByText(`Your balance is down to ${inDollars}`)).toBeTruthy();
});

it('shows the message and its time', async () => {
  const [one] = stubs(1);
  const created_at = new Date(Date.now() - 5 * 60_000).toISOString();
  show([{ ...one, created_at } as Notification]);
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 1 unread' }));
  const row = within(await screen.findByRole('link', { name: /Model 0 has finished training/ }));
  expect(row.getByText('5 minutes ago').getAttribute('datetime')).toBe(created_at);
});

const aboutPicture = (id: string, generation_id: string): Notification => ({
  ...{ notification_id: id, kind: 'generation_completed', amount: null, status: 'unread', generation_id },
  ...{ message: 'Your Paris generation is ready', link: `/gallery/${generation_id}` },
  created_at: new Date().toISOString(),
});

it('shows the picture and its prompt, or that it was deleted', async () => {
  show([aboutPicture('n1', 'g1'), aboutPicture('n2', 'gone')]);
  fireEvent.click(await screen.findByRole('button', { name: 'Notifications, 2 unread' }));
  const row = await screen.findByRole('link', { name: /A loaf of rye/ });
  expect(row.querySelector('img')?.getAttribute('loading')).toBe('lazy');
  expect(screen.getByRole('link', { name: /Deleted/ }).querySelector('img')).toBeNull();
  const asked = vi.mocked(call).mock.calls.filter(([endpoint]) => (endpoint as unknown) === listGenerations);
  expect(asked.map(([, input]) => input)).toMatchObject([{ query: { ids: 'g1,gone' } }]);
});

it.each(['/gallery/g1', '/paris'])('does not count a task that is being watched at %s', async (pathname) => {
  page.pathname = pathname;
  show([aboutPicture('n1', 'g1'), ...stubs(1)]);
  await screen.findByRole('button', { name: 'Notifications, 1 unread' });
  await vi.waitFor(() =>
    expect(stored.map(({ notification_id: id, status }) => [id, status])).toEqual([
      ['n1', 'read'],
      ['n0', 'unread'],
    ]),
  );
});

it('counts a task that ends on another page, or in a hidden tab', async () => {
  const look = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  page.pathname = '/gallery/g1';
  show([aboutPicture('n1', 'g1')]);
  await screen.findByRole('button', { name: 'Notifications, 1 unread' });
  look.mockReturnValue('visible');
  fireEvent(document, new Event('visibilitychange'));
  expect(await screen.findByRole('button', { name: 'Notifications' })).toBeTruthy();
});
