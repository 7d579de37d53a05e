import { fireEvent, renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useStepKeys } from './use-step-keys.ts';

test('leaves the arrow keys to fields and to content that scrolls further', () => {
  const step = vi.fn<(by: number) => unknown>();
  renderHook(() => useStepKeys(['ArrowUp', 'ArrowDown'], step, { onTop: true }));
  document.body.innerHTML = '<div style="overflow-y: auto"><button>Edit</button><textarea></textarea></div>';
  const [content, button, field] = document.querySelectorAll('div, button, textarea');
  if (!content || !button || !field) throw new Error('An element is missing');
  Object.defineProperties(content, { scrollHeight: { value: 300 }, clientHeight: { value: 100 } });
  const press = (key: string, target: Element = button) => fireEvent.keyDown(target, { key });

  expect(press('ArrowDown')).toBe(true);
  expect(press('ArrowDown', field)).toBe(true);
  expect(step).not.toHaveBeenCalled();
  expect(press('ArrowUp')).toBe(false);
  expect(step).toHaveBeenLastCalledWith(-1);
  content.scrollTop = 200;
  expect(press('ArrowDown')).toBe(false);
  expect(step).toHaveBeenLastCalledWith(1);
  expect(press('ArrowUp')).toBe(true);

  // There is no further row.
  step.mockReturnValue(false);
  expect(press('ArrowDown')).toBe(true);
});
