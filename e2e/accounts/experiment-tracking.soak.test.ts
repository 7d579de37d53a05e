import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('a user connects and disconnects an experiment tracker', async ({ page, allowErrors }) => {
  allowErrors(/400 \(Bad Request\).*\/trackers\//);
  await signUp(page);
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Connect Weights & Biases' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Project').fill('loaves');
  await dialog.getByLabel('API key').fill('a-wrong-key');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog.getByText('Weights & Biases does not accept this API key').waitFor();
  await look(page, 'tracker-refused');
  await dialog.getByLabel('API key').fill('wandb-key-of-ada');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await page.getByText('Project loaves of ada').waitFor();
  await page.getByRole('button', { name: 'Connect MLflow' }).click();
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog
    .getByText('127.0.0.1:9 is not a public address. Ask the operator of this server to allow it')
    .waitFor();
  await look(page, 'tracker-address');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await look(page, 'trackers');
  await page.getByRole('button', { name: 'Disconnect Weights & Biases' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('button', { name: 'Connect Weights & Biases' }).waitFor();
});
