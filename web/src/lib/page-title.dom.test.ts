import { renderHook } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { announceInTitle, usePageTitle } from './page-title.ts';

const look = (isHidden: boolean) => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden);
  document.dispatchEvent(new Event('visibilitychange'));
};

afterEach(() => look(false));

const show = (title: string | null) => renderHook(usePageTitle, { initialProps: title });

it("announces in the title of a hidden tab, and restores the page's title", () => {
  show('Dashboard');
  expect(document.title).toBe('Dashboard · Bakehouse');
  look(true);
  announceInTitle('Baker is trained');
  announceInTitle('Miller is trained');
  expect(document.title).toBe('Miller is trained · Bakehouse');
  look(false);
  expect(document.title).toBe('Dashboard · Bakehouse');
});

it('announces nothing in a visible tab, and shows a title that the page has set since', () => {
  const { rerender } = show('Baker');
  announceInTitle('Baker is trained');
  expect(document.title).toBe('Baker · Bakehouse');
  look(true);
  announceInTitle('Baker is trained');
  rerender('Completed · Baker');
  expect(document.title).toBe('Completed · Baker · Bakehouse');
  look(false);
  expect(document.title).toBe('Completed · Baker · Bakehouse');
});
