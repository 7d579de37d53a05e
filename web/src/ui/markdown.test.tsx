import { act, render, screen } from '@testing-library/react';
import { beforeAll, expect, it, vi } from 'vitest';
import { MarkdownLines } from './markdown.tsx';

// Preload the renderer so that its load time doesn't affect the tests.
beforeAll(() => import('./markdown-content.tsx'));

it('keeps line breaks, sets the direction per block and fetches nothing', async () => {
  // Suspended content only resumes inside an awaited `act`.
  const { container } = await act(async () =>
    render(
      <MarkdownLines
        text={'**Bread**\nand butter\n\n![Oven](https://example.com/oven.png)<script>x</script>'}
      />,
    ),
  );
  const bold = await screen.findByText('Bread');
  expect(bold.tagName).toBe('STRONG');
  expect(bold.closest('p')?.textContent).toBe('Bread\nand butter');
  expect(bold.closest('p')?.dir).toBe('auto');
  expect(screen.getByRole('link', { name: 'Oven' }).getAttribute('href')).toBe(
    'https://example.com/oven.png',
  );
  expect(container.querySelector('img, script')).toBeNull();
});

it('shows the raw text if the renderer fails to load', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  vi.resetModules();
  vi.doMock('./markdown-content.tsx', () => {
    throw new TypeError('Failed to fetch dynamically imported module');
  });
  const lost = await import('./markdown.tsx');
  render(
    <>
      <p>The conversation</p>
      <lost.Markdown text="# Bread" />
      <lost.MarkdownLines text="**and** butter" />
    </>,
  );
  expect(await screen.findByText('# Bread')).toBeTruthy();
  expect(screen.getByText('**and** butter')).toBeTruthy();
  expect(screen.getByText('The conversation')).toBeTruthy();
  vi.doUnmock('./markdown-content.tsx');
});
