import { expect } from 'vitest';
import { startSeparateServer } from '../../scripts/client/separate-server.ts';
import { closeAll } from '../../server/src/testing/on-file-end.ts';
import { freePort } from '../../server/src/testing/ports/free-port.ts';
import { mailServer } from '../../server/src/testing/servers/mail-server.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const NEW_PASSWORD = 'an even longer password';

journey(
  'a password is reset with a mailed link, which works once and ends other sessions',
  async ({ openPage, allowErrors, onTestFinished }) => {
    allowErrors(/status of 40[01]/);
    onTestFinished(closeAll);
    const { mails, settings } = await mailServer();
    // Must be the same as the beginning of the mailed link.
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const server = await startSeparateServer({
      BAKEHOUSE_PORT: port,
      BAKEHOUSE_PUBLIC_URL: url,
      BAKEHOUSE_PREPARE: 'false',
      BAKEHOUSE_DRIVER: 'fake',
      BAKEHOUSE_SMTP_HOST: settings.host,
      BAKEHOUSE_SMTP_PORT: String(settings.port),
      BAKEHOUSE_SMTP_TLS: settings.tls,
      BAKEHOUSE_SMTP_FROM: settings.from,
    });
    onTestFinished(server.stop);
    const elsewhere = await openPage(url);
    const { email, password } = await signUp(elsewhere);

    const page = await openPage(url);
    await page.goto('/');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByText('We will send you a link to choose a new password.').waitFor();
    await page.getByLabel('Email').fill(email);
    await look(page, 'forgot-password');
    await page.getByRole('button', { name: 'Request a link' }).click();
    await page.getByText('Check your mail').waitFor();
    await look(page, 'forgot-password-asked');

    const linkMailed = () =>
      mails
        .filter(({ head, to }) => /^Subject: .*password/im.test(head) && to.includes(email))
        .map(({ body }) => /https?:\/\/\S+/.exec(body)?.[0])[0];
    await expect.poll(linkMailed).toContain(url);
    const link = linkMailed() ?? '';
    await page.goto(link);
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password must have at least 8 characters').waitFor();
    await look(page, 'new-password');
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password was changed').waitFor();

    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('Password').fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/dashboard');

    await elsewhere.reload();
    await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor();
    // Use the link again, in a browser without a session.
    await elsewhere.goto(link);
    await elsewhere.getByText('This link no longer works').waitFor();
    expect(await elsewhere.getByLabel('New password').count()).toBe(0);
    await look(elsewhere, 'new-password-spent');
    await elsewhere.getByRole('link', { name: 'Request a new link' }).click();
    await elsewhere.getByRole('button', { name: 'Request a link' }).waitFor();
    // Close the pages before their server stops.
    await page.close();
    await elsewhere.close();
  },
);
