import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { ChangePasswordForm } from './change-password-form.tsx';
import { changePassword } from './profile-calls.ts';

vi.mock('./profile-calls.ts', () => ({ changePassword: vi.fn<typeof changePassword>() }));

const field = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

async function submit(current: string, next: string) {
  if (current) await userEvent.type(field('Current password'), current);
  if (next) await userEvent.type(field('New password'), next);
  await userEvent.click(screen.getByRole('button', { name: 'Change password' }));
}

beforeEach(() => {
  vi.clearAllMocks();
  render(<ChangePasswordForm />);
});

test('requires both passwords before sending', async () => {
  await submit('', 'short');
  expect(await screen.findByText('Enter your current password')).toBeTruthy();
  expect(screen.getByText('Password must have at least 8 characters')).toBeTruthy();
  expect(document.activeElement).toBe(field('Current password'));
  expect(changePassword).not.toHaveBeenCalled();
});

test('reports a wrong current password at its field, and keeps the input', async () => {
  vi.mocked(changePassword).mockRejectedValue(
    new ApiError('Invalid password', { status: 400, code: 'invalid_password' }),
  );
  await submit('not it', 'a long password');
  expect(await screen.findByText('This is not your current password')).toBeTruthy();
  expect(field('New password').value).toBe('a long password');
});

test('clears the fields when done', async () => {
  vi.mocked(changePassword).mockResolvedValue();
  await submit('the old one', 'a long password');
  await vi.waitFor(() => expect(field('New password').value).toBe(''));
  expect(changePassword).toHaveBeenCalledWith('the old one', 'a long password', { endsKeys: false });
});

test('revokes API keys on request, and clears the checkbox afterwards', async () => {
  vi.mocked(changePassword).mockResolvedValue();
  const box = screen.getByRole('checkbox', { name: /^Also revoke my API keys/ });
  await userEvent.click(box);
  await submit('the old one', 'a long password');
  await vi.waitFor(() => expect(box.isConnected).toBe(false));
  expect(screen.getByRole<HTMLInputElement>('checkbox').checked).toBe(false);
  expect(changePassword).toHaveBeenCalledWith('the old one', 'a long password', { endsKeys: true });
});
