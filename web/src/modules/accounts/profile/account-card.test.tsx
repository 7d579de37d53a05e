import { getSession } from '@bakehouse/contract/accounts';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { sendErrorReport } from '../../../lib/error-reports/send-error-report.ts';
import { notify } from '../../../ui/notify.ts';
import { notifyFailures } from '../../../ui/notify-failure.ts';
import { UserContext } from '../session.ts';
import { AccountCard } from './account-card.tsx';

vi.mock('../../../lib/error-reports/send-error-report.ts', () => ({
  sendErrorReport: vi.fn<typeof sendErrorReport>(),
}));

const ada = { id: 'ada', name: 'Ada', username: 'ada', email: 'ada@example.com', email_verified: true };

const card = (changed: object = {}) => (
  <QueryClientProvider client={queryClient}>
    <UserContext value={{ ...ada, ...changed } as never}>
      <AccountCard />
    </UserContext>
  </QueryClientProvider>
);
const show = (changed?: object) => render(card(changed));
const notified = vi.spyOn(notify, 'success').mockImplementation(() => undefined);

test('keeps the focus in the name while saving, and shows the saved name', async () => {
  vi.stubGlobal('fetch', async (url: string) =>
    Response.json(url === getSession.path ? { user: null, api_key: null } : { status: true }),
  );
  const { rerender } = show();
  const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' });
  await userEvent.type(field, ' Lovelace {Enter}');
  await vi.waitFor(() => expect(notified).toHaveBeenCalledWith('Your name was changed'));
  rerender(card({ name: 'Ada Lovelace' }));
  expect(document.activeElement).toBe(field);
  expect(field.value).toBe('Ada Lovelace');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
});

test('does not show an external picture', () => {
  const { container } = show({ image_url: 'https://pictures.example/ada.png' });
  expect(container.querySelector('img')).toBeNull();
  expect(screen.getByRole('button', { name: 'Upload a picture' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Remove' })).toBeNull();
});

test("shows a picture's problem once below it, without an error report", async () => {
  const failure = vi.spyOn(notify, 'failure');
  vi.stubGlobal('createImageBitmap', () => Promise.reject(new Error('No picture')));
  vi.stubGlobal('fetch', async () => new Response());
  notifyFailures(queryClient);
  show();
  for (let time = 0; time < 2; time += 1) {
    const file = new File(['no picture'], 'ada.png', { type: 'image/png' });
    await userEvent.upload(screen.getByLabelText('Picture'), file);
    expect((await screen.findByRole('alert')).textContent).toMatch(/^This file is not a picture/);
  }
  expect(failure).not.toHaveBeenCalled();
  await vi.dynamicImportSettled();
  expect(sendErrorReport).not.toHaveBeenCalled();
});
