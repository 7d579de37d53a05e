import type { Page } from 'playwright-core';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'a deployment shows why it sleeps, why it failed, and its cost; its conversation survives a reload',
  { timeout: 2 * WORK_MS },
  async ({ page, allowErrors }) => {
    await signUp(page);
    await page.goto('/model');
    await page.getByRole('link', { name: 'SmolLM2-135M-Instruct' }).click();
    await page.getByText('per hour').waitFor();
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.getByPlaceholder('Ask a question').waitFor({ timeout: WORK_MS });

    await answerWith(page, { status: 'sleeping', reason: 'Asleep: no requests for a while.' });
    await page.getByText('Asleep: nobody asked').waitFor();
    // A question wakes the deployment up.
    await page.getByPlaceholder('Ask a question').waitFor();
    await look(page, 'deployment-sleeping');

    await answerWith(page, {
      status: 'failed',
      reason: 'The model server ended: out of memory.',
      cost_so_far: '0',
    });
    await page.getByText('The model server ended: out of memory. You were not charged.').waitFor();
    await page.getByText('This deployment has ended. Deploy the model again').waitFor();
    await look(page, 'deployment-failed');
    await page.unrouteAll({ behavior: 'ignoreErrors' });

    await page.reload();
    allowErrors(/503/);
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The model server is starting again' } } }),
    );
    const question = page.getByPlaceholder('Ask a question');
    await question.fill('Are you there?');
    await question.press('Enter');
    await page.getByText('The model server is starting again').waitFor();
    await page.getByText('Are you there?', { exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: answer('Three breads:\n\n- rye\n- spelt') }),
    );
    await question.press('Enter');
    await page.getByText('spelt').waitFor();
    await page.reload();
    await page.getByText('spelt').waitFor();
    await look(page, 'deployment-chat-kept');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByRole('button', { name: 'Terminate' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Terminate' }).click();
    await page.getByText('Terminated by you').waitFor();
  },
);

/** A complete streamed answer. */
const answer = (content: string) =>
  [JSON.stringify({ choices: [{ delta: { content } }] }), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');

/** From the next request on, responses contain this state of the deployment. */
async function answerWith(page: Page, state: Record<string, string>): Promise<void> {
  // The reload may abort a request that is in progress.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.route('**/status', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...state } });
  });
  await page.reload();
}
