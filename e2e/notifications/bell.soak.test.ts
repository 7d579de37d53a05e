import { expect } from 'vitest';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'the bell announces a deployment that is ready, and links to it',
  { timeout: WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.getByRole('button', { name: 'Notifications', exact: true }).click();
    await page.getByText("You don't have any notifications.").waitFor();
    await look(page, 'bell-empty');
    await page.keyboard.press('Escape');

    await page.goto('/model');
    await page.getByRole('link', { name: 'SmolLM2-135M-Instruct' }).click();
    await page.getByText('per hour').waitFor();
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.goto('/dashboard');
    const bell = page.getByRole('button', { name: 'Notifications, 1 unread' });
    await bell.waitFor({ timeout: WORK_MS });
    // Uses only the keyboard.
    await bell.focus();
    await page.keyboard.press('Enter');
    const notification = page.getByRole('link', { name: /SmolLM2-135M-Instruct is ready/ });
    await notification.waitFor();
    await look(page, 'bell');
    await notification.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/my-deployments/*');
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('Terminated by you').waitFor();
  },
);

journey('a message is sent with Contact Us, and is kept if sending fails', async ({ page, allowErrors }) => {
  await signUp(page);
  await page.getByRole('button', { name: 'Contact Us' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Subject is required').waitFor();
  await look(page, 'contact-us-refused');
  await page.getByLabel('Subject').fill('Dough');
  await page.getByLabel('Message').fill('It does not rise.');

  allowErrors(/500/);
  await page.route('**/api/v1/contact-us', (route) =>
    route.fulfill({ status: 500, json: { error: { message: 'The oven is out' } } }),
  );
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The oven is out').waitFor();
  expect(await page.getByLabel('Message').inputValue()).toBe('It does not rise.');
  await page.unroute('**/api/v1/contact-us');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Your message has been sent successfully!').waitFor();
  await page.getByLabel('Subject').waitFor({ state: 'detached' });
});
