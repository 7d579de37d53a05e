import { afterEach, expect, it, vi } from 'vitest';
import { announceInTitle } from './announce-in-title.ts';

const look = (isHidden: boolean) => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden);
  document.dispatchEvent(new Event('visibilitychange'));
};

afterEach(() => look(false));

it('says it where nobody looks, and gives the page its title back', () => {
  document.title = 'Dashboard · Bakehouse';
  look(true);
  announceInTitle('Baker is trained');
  announceInTitle('Miller is trained');
  expect(document.title).toBe('Miller is trained · Bakehouse');
  look(false);
  expect(document.title).toBe('Dashboard · Bakehouse');
});

it('says nothing where somebody looks, and leaves what the page has written since', () => {
  document.title = 'Dashboard · Bakehouse';
  announceInTitle('Baker is trained');
  expect(document.title).toBe('Dashboard · Bakehouse');
  look(true);
  announceInTitle('Baker is trained');
  document.title = 'Completed · Baker · Bakehouse';
  look(false);
  expect(document.title).toBe('Completed · Baker · Bakehouse');
});
