import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { BeforeAfter } from './before-after.tsx';

test('one slider between the picture and its source moves with the arrow keys', () => {
  render(
    <BeforeAfter
      before="/before.png"
      after={{ url: '/after.png', width: 128, height: 128 }}
      prompt="A hat"
    />,
  );
  const before = () => screen.getByRole('img', { name: 'Before' }).style.clipPath;
  expect(screen.getByRole('img', { name: 'A hat' }).getAttribute('src')).toBe('/after.png');
  expect(before()).toBe('inset(0 50% 0 0)');

  const slider = screen.getByRole('slider', { name: 'Before and after' });
  expect(slider.getAttribute('aria-valuetext')).toBe('50% before, 50% after');
  fireEvent.keyDown(slider, { key: 'ArrowRight' });
  expect(before()).toBe('inset(0 49% 0 0)');
  fireEvent.keyDown(slider, { key: 'Home' });
  expect(before()).toBe('inset(0 100% 0 0)');
  expect(slider.getAttribute('aria-valuetext')).toBe('0% before, 100% after');
});
