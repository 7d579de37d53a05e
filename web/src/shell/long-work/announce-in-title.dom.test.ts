import { afterEach, expect, it, vi } from 'vitest';
import { announceInTitle } from './announce-in-title.ts';

const look = (isHidden: boolean) => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden);
  document.dispatchEvent(new Event('visibilitychange'));
};

afterEach(() => look(false));

it("announces in the title of a hidden tab, and restores the page's title", () => {
  document.title = 'Dashboard · Bakehouse';
  look(true);
  announceInTitle('Baker is trained');
  announceInTitle('Miller is trained');
  expect(document.title).toBe('Miller is trained · Bakehouse');
  look(false);
  expect(document.title).toBe('Dashboard · Bakehouse');
});

it('announces nothing in a visible tab, and keeps a title that the page has set since', () => {
  document.title = 'Dashboard · Bakehouse';
  announceInTitle('Baker is trained');
  expect(document.title).toBe('Dashboard · Bakehouse');
  look(true);
  announceInTitle('Baker is trained');
  document.title = 'Completed · Baker · Bakehouse';
  look(false);
  expect(document.title).toBe('Completed · Baker · Bakehouse');
});
