import { act, renderHook } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { useDraft } from './use-draft.ts';

const draftOf = () => renderHook(() => useDraft('flux-kontext', {}, () => undefined)).result;

beforeEach(() => sessionStorage.clear());

test('keeps text typed while a picture is being checked', () => {
  const result = draftOf();
  const { change: changeBefore } = result.current;
  act(() => result.current.change({ prompt: 'Make it blue' }));
  act(() => changeBefore({ source: { generationId: 'g1' } }));
  expect(result.current.typed).toMatchObject({ prompt: 'Make it blue', source: { generationId: 'g1' } });
});

test('restores the draft after a reload, except a file', () => {
  const before = draftOf();
  act(() => before.current.change({ prompt: 'Make it blue', source: { generationId: 'g1' } }));
  expect(draftOf().current.typed).toMatchObject({ prompt: 'Make it blue', source: { generationId: 'g1' } });
  act(() => before.current.change({ source: { file: new File(['x'], 'x.png') } }));
  expect(draftOf().current.typed).toMatchObject({ prompt: 'Make it blue', source: null });
});

test('after a reload an edited file is restored from its edit', () => {
  const source = { file: new File(['x'], 'x.png') };
  const before = draftOf();
  act(() => before.current.change({ source }));
  act(() => before.current.recordEdit(source, 'e1'));
  expect(before.current.typed.source).toMatchObject(source);
  expect(draftOf().current.typed.source).toEqual({ sameAsId: 'e1' });
  act(() => before.current.change({ source: { generationId: 'g1' } }));
  // The edit started before the picture was changed.
  act(() => before.current.recordEdit(source, 'e2'));
  expect(draftOf().current.typed.source).toEqual({ generationId: 'g1' });
});

test('after a reload the source of another edit has the mask of the last edit', () => {
  const source = { sameAsId: 'e1' };
  const before = draftOf();
  act(() => before.current.change({ source, mask: new File(['x'], 'mask.png') }));
  act(() => before.current.recordEdit(source, 'g2'));
  expect(before.current.typed.source).toMatchObject(source);
  expect(draftOf().current.typed.source).toEqual({ sameAsId: 'g2' });
});
