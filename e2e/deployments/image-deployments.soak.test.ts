import { licences } from '@bakehouse/contract/licences';
import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const LICENCE = 'flux-1-dev-non-commercial';

journey(
  "the starter editor is deployed with its model's licence, runs, and is terminated",
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/my-deployments');
    await page.getByRole('button', { name: 'Picture and video models' }).click();
    await page.getByText('No picture or video model is deployed').waitFor();
    await look(page, 'image-deployments-empty');

    // Only full-size weights have a licence, and they do not fit on the test machine.
    await page.route('**/deploy/flux-kontext/quote', async (route) => {
      const response = await route.fetch();
      const licence = { licence: LICENCE, ...licences[LICENCE], accepted_at: null };
      await route.fulfill({ response, json: { ...(await response.json()), licence } });
    });
    await page.getByRole('button', { name: 'Deploy a picture or video model' }).first().click();
    const dialog = page.getByRole('dialog');
    await choose(page, dialog.getByRole('combobox', { name: 'Model' }), 'Kontext starter');
    await dialog.getByText('per hour').waitFor();
    const deploy = dialog.getByRole('button', { name: 'Deploy' });
    expect(await deploy.isDisabled()).toBe(true);
    await dialog.getByRole('checkbox', { name: 'I have read and accept the license' }).click();
    await look(page, 'image-deployment-dialog');
    await deploy.click();
    await page.getByText('Model deployment initiated successfully').waitFor();
    await page.getByRole('heading', { name: 'Kontext starter' }).waitFor();
    // The message may disappear during the check.
    const completed = page
      .getByText('Model deployment completed successfully!')
      .waitFor({ timeout: WORK_MS });
    await look(page, 'image-deployment-coming');
    await completed;
    await page.getByText('Running', { exact: true }).waitFor();
    await page.getByText('/v1/deployments/').waitFor();
    await look(page, 'image-deployment-running');

    await page.goto('/my-deployments/images');
    await page.getByText('Active Kontext deployment').waitFor();
    await look(page, 'image-deployments');
    await page.getByRole('button', { name: 'Terminate Kontext starter' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('FLUX deployment terminated successfully!').waitFor();
    await page.getByText('No picture or video model is deployed').waitFor();
  },
);
