import { expect } from 'vitest';
import { journey } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'the button of a toast stands under its text and takes no room from it',
  async ({ page, allowErrors }) => {
    allowErrors(/400/);
    // It slides in otherwise, and is measured on its way.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.route(/\/balance/, (route) => route.fulfill({ status: 400, json: {} }));
    await signUp(page);
    const text = await page.getByText('Balance information may be outdated').boundingBox();
    const button = await page.getByRole('button', { name: 'Refresh' }).boundingBox();
    if (!text || !button) throw new Error('The toast is not in sight');
    expect(button.y).toBeGreaterThanOrEqual(text.y + text.height);
  },
);
