import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export type Visitor = { username: string; email: string; password: string };

/** Signs up a new user through the API, and waits for the dashboard. */
export async function signUp(page: Page): Promise<Visitor> {
  const { username, email, password } = newVisitor();
  const answer = await page.request.post('/api/auth/sign-up/email', {
    data: { name: username, email, password },
  });
  expect(answer.status(), 'sign-up').toBe(200);
  await page.goto('/dashboard');
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  return { username, email, password };
}

/** Signs up a new user through the form, and waits for the dashboard. */
export async function signUpByForm(page: Page): Promise<Visitor> {
  const visitor = newVisitor();
  await page.goto('/?form=sign-up');
  await page.getByLabel('Username').fill(visitor.username);
  await page.getByLabel('Email').fill(visitor.email);
  await page.getByLabel('Password').fill(visitor.password);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.waitForURL('**/dashboard');
  return visitor;
}

function newVisitor(): Visitor {
  const username = `ada-${randomBytes(4).toString('hex')}`;
  return { username, email: `${username}@example.com`, password: 'a long password' };
}
