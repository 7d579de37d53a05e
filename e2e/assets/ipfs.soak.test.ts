import { chooseFile } from '../create-dataset.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

/** CID of a folder that contains only `rolls.csv` with these bytes. */
const CID = 'bafybeib4fxlowmerfonymjhfhdcagnlpggxo7fif3kiyrfhwwl4gwlhrrm';

journey('a dataset with IPFS shows its CIDs', async ({ page }) => {
  await signUp(page);
  await page.goto('/dataset?sheet=create-dataset');
  const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
  await sheet.getByLabel('Name').fill('Rolls');
  await sheet.getByRole('button', { name: 'More' }).click();
  await sheet.getByRole('switch', { name: 'IPFS' }).click();
  await look(page, 'create-dataset-ipfs');
  await sheet.getByRole('button', { name: 'Create', exact: true }).click();
  await sheet.getByRole('link', { name: 'Manage Dataset' }).click();
  await chooseFile(page, { name: 'rolls.csv', text: 'question,answer\nWhat is a Brötchen?,A roll\n' });
  await page.getByRole('tab', { name: 'Files (1)' }).waitFor();
  await page.getByRole('tab', { name: 'IPFS' }).click();
  await page.getByText('Not pinned').waitFor();
  const address = page.locator(`a[href="ipfs://${CID}"]`);
  await address.waitFor();
  await look(page, 'ipfs');
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('IPFS is off').waitFor();
  await look(page, 'ipfs-off');
  await page.getByRole('button', { name: 'Turn on IPFS' }).click();
  await address.waitFor();
});
