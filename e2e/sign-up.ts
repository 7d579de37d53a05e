import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';

export type Visitor = { username: string; email: string; password: string };

/** Signs a new user up as a person would, and waits for the dashboard. */
export async function signUp(page: Page): Promise<Visitor> {
  const username = `ada-${randomBytes(4).toString('hex')}`;
  const visitor = { username, email: `${username}@example.com`, password: 'a long password' };
  await page.goto('/?form=sign-up');
  await page.getByLabel('Username').fill(visitor.username);
  await page.getByLabel('Email').fill(visitor.email);
  await page.getByLabel('Password').fill(visitor.password);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.waitForURL('**/dashboard');
  return visitor;
}
