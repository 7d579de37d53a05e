import type { Page } from 'playwright-core';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'a deployment says why it sleeps, why it failed, and what that cost; its conversation outlives a reload',
  { timeout: 2 * WORK_MS },
  async ({ page, allowErrors }) => {
    await signUp(page);
    await page.goto('/model');
    await page.getByRole('link', { name: 'SmolLM2-135M-Instruct' }).click();
    await page.getByText('per hour').waitFor();
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.getByPlaceholder('Ask a question').waitFor({ timeout: WORK_MS });

    await answerWith(page, { status: 'sleeping', reason: 'Asleep: nobody asked it anything for a while.' });
    await page.getByText('Asleep: nobody asked').waitFor();
    // Asking it is what wakes it.
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

/** A whole answer as a model streams it. */
const answer = (content: string) =>
  [JSON.stringify({ choices: [{ delta: { content } }] }), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');

/** From the next reading on the page's deployment is in this state. */
async function answerWith(page: Page, state: Record<string, string>): Promise<void> {
  // One that is being answered may be cut off by the reload.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.route('**/status', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...state } });
  });
  await page.reload();
}
