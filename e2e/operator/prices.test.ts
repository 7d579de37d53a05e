import { localDay } from '../../web/src/lib/format/format-time.ts';
import { journey, look } from '../journey.ts';
import { ownOperatorServer, signUpOperator } from '../operator.ts';
import { signUp } from '../sign-up.ts';

const startServer = ownOperatorServer();

const DAY_MS = 24 * 60 * 60 * 1000;

journey(
  'an operator changes prices, immediately and from a date on, and everyone sees them',
  async ({ openPage }) => {
    const server = await startServer();
    const guest = await openPage(server.url);
    await signUp(guest);
    await guest.goto('/operator/prices');
    await guest.getByText('Only operators can see the prices').waitFor();

    const page = await openPage(server.url);
    const { username } = await signUpOperator(page, server);
    await page.goto('/operator/prices');
    await page.getByText('No changes yet').waitFor();
    await look(page, 'operator-prices');

    const training = "Training on this machine's CPU";
    const change = async (label: string) =>
      page.getByRole('button', { name: `Change the price of ${label}`, exact: true }).click();
    const dialog = page.getByRole('dialog');
    const save = () => dialog.getByRole('button', { name: 'Change the price' }).click();
    const question = page.getByRole('alertdialog');
    const confirm = () => question.getByRole('button', { name: 'Change the price' }).click();
    await change(training);
    await save();
    await dialog.getByText('Price must be greater than 0, with at most 6 decimals').waitFor();
    await dialog.getByLabel('New price').fill('0.10');
    await save();
    await page.getByText('This is the current price').waitFor();
    await look(page, 'operator-prices-refused');
    await dialog.getByLabel('New price').fill('0.20');
    await dialog.getByText('$0.20 = 5.00 BGL').waitFor();
    await save();
    await question.getByText('$0.20 = 5.00 BGL').waitFor();
    await look(page, 'operator-prices-question');
    await confirm();
    await page.getByText('The price was changed').waitFor();
    await page.getByRole('row', { name: /this machine's CPU \$0\.20 per hour/ }).waitFor();

    const day = localDay(new Date(Date.now() + 10 * DAY_MS));
    await change('Text model served on the CPU');
    await dialog.getByLabel('New price').fill('0.08');
    await dialog.getByRole('button', { name: 'Later' }).click();
    await save();
    await dialog.getByText('Enter the date and the time').waitFor();
    await dialog.getByLabel('Date and time').fill('2020-01-01T10:00');
    await save();
    await dialog.getByText('Choose a later time, or change the price now').waitFor();
    await look(page, 'operator-prices-later');
    await dialog.getByLabel('Date and time').fill(`${day}T10:00`);
    await save();
    await confirm();
    await page.getByText(/^The price will change on/).waitFor();
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('Upcoming').filter({ visible: true }).waitFor();
    await history.getByText(username).first().waitFor();
    await look(page, 'operator-prices-changed');
    await page.setViewportSize({ width: 390, height: 844 });
    await history.getByText('Upcoming').filter({ visible: true }).waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });

    await guest.goto('/buy-bagels');
    for (const name of ['Training', 'Chat and API']) await guest.getByRole('button', { name }).click();
    await guest.getByRole('row', { name: /this machine's CPU \$0\.20 per hour/ }).waitFor();
    await guest.getByText(/^\$0\.08 from /).waitFor();
    await look(guest, 'buy-credits-price-to-come');
  },
);
