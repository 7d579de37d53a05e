import { expect } from 'vitest';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const PROMPT = 'a red apple on a table';

journey(
  'a visitor generates a picture and asks a question without an account, and keeps both after signing up',
  { timeout: 3 * WORK_MS },
  async ({ page }) => {
    await page.goto('/');
    const picture = page.getByRole('region', { name: 'Generate a picture' });
    const chat = page.getByRole('region', { name: 'Ask a question' });
    const generate = picture.getByRole('button', { name: PROMPT });
    await expect.poll(() => generate.isEnabled(), { timeout: WORK_MS }).toBe(true);
    await look(page, 'landing');
    await generate.click();
    const made = picture.getByRole('img', { name: PROMPT });
    await picture.getByText('Sign up to keep it').waitFor({ timeout: WORK_MS });
    expect(await made.getAttribute('src')).toMatch(/^\/api\//);

    const question = chat.getByRole('textbox', { name: 'Question' });
    await expect.poll(() => question.isEnabled(), { timeout: WORK_MS }).toBe(true);
    await question.fill('What is sourdough?');
    await question.press('Enter');
    await chat.getByText('Sign up to continue this conversation').waitFor({ timeout: WORK_MS });
    await expect
      .poll(() => chat.getByRole('button', { name: 'Ask' }).isEnabled(), { timeout: WORK_MS })
      .toBe(true);
    const answer = (await chat.getByRole('listitem').last().innerText()).trim();
    expect(answer.length).toBeGreaterThan(10);
    await look(page, 'landing-tried');

    await signUp(page);
    await page.getByText('Your picture is in the gallery').waitFor();
    await page.goto('/gallery');
    await page.getByRole('link', { name: PROMPT, exact: true }).waitFor();
    await page.goto('/chat');
    const earlier = page.getByRole('navigation', { name: 'Conversations' });
    await earlier.getByRole('button', { name: /^What is sourdough/ }).click();
    await page.getByRole('log').getByText('What is sourdough?').waitFor();
  },
);
