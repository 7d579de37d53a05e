import { expect } from 'vitest';
import { journey, look, soakJourney } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('a friend signs up through an invitation, and both receive the bonus', async ({ page, openPage }) => {
  await signUp(page);
  await page.goto('/invite');
  await page.getByText('No one has joined yet').waitFor();
  await look(page, 'invite');
  const link = new URL(await page.getByLabel('Link', { exact: true }).inputValue());

  const friend = await openPage();
  await friend.goto(link.pathname + link.search);
  await friend
    .getByText('Create an account, and you and the friend who invited you each get $5.00')
    .waitFor();
  await look(friend, 'invited');
  const { username } = await signUp(friend);
  const welcome = friend.getByRole('dialog');
  await welcome.getByText('$5.00').waitFor();
  await look(friend, 'referral-bonus');
  await welcome.getByRole('button', { name: 'Go to Dashboard' }).click();
  await friend.getByRole('link', { name: 'Balance: $10.00' }).waitFor();
  // The code was used, so pages no longer mention it.
  const asked = friend.waitForResponse(/\/api\/referral\?/);
  await friend.reload();
  expect(await (await asked).json()).toEqual({ referralCode: null });

  await page.getByRole('button', { name: 'Notifications, 1 unread' }).waitFor();
  await page.reload();
  await page.getByText(username).waitFor();
  await page.getByRole('link', { name: 'Balance: $10.00' }).waitFor();
  await look(page, 'invite-joined');
});

soakJourney('an unknown code is reported as invalid and deleted', async ({ page }) => {
  await page.goto('/?referral_code=nobodys1');
  await signUp(page);
  const refusal = page.getByRole('dialog');
  await refusal
    .getByText(
      'We encountered an issue: Invalid code or reached maximum limit of invites. Please try again later or contact support if the problem persists.',
    )
    .waitFor();
  await look(page, 'referral-refused');
  await refusal.getByRole('button', { name: 'Go to Dashboard' }).click();
  await refusal.waitFor({ state: 'detached' });
  const asked = page.waitForResponse(/\/api\/referral\?/);
  await page.reload();
  expect(await (await asked).json()).toEqual({ referralCode: null });
});
