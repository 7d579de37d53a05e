import { act, renderHook } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { useDraft } from './use-draft.ts';

const draftOf = () => renderHook(() => useDraft('flux-kontext', {}, () => undefined)).result;

beforeEach(() => sessionStorage.clear());

test('what is typed while a picture is looked at stays', () => {
  const result = draftOf();
  const [, changeBefore] = result.current;
  act(() => result.current[1]({ prompt: 'Make it blue' }));
  act(() => changeBefore({ source: { generationId: 'g1' } }));
  expect(result.current[0]).toMatchObject({ prompt: 'Make it blue', source: { generationId: 'g1' } });
});

test('it is there again after a reload, but for a file', () => {
  const before = draftOf();
  act(() => before.current[1]({ prompt: 'Make it blue', source: { generationId: 'g1' } }));
  expect(draftOf().current[0]).toMatchObject({ prompt: 'Make it blue', source: { generationId: 'g1' } });
  act(() => before.current[1]({ source: { file: new File(['x'], 'x.png') } }));
  expect(draftOf().current[0]).toMatchObject({ prompt: 'Make it blue', source: null });
});
