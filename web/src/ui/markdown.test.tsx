import { render, screen } from '@testing-library/react';
import { beforeAll, expect, it } from 'vitest';
import { MarkdownLines } from './markdown.tsx';

// The renderer is loaded on demand; how long that takes says nothing here.
beforeAll(() => import('./markdown-content.tsx'));

it('keeps line breaks, writes each block in its own direction, and fetches nothing', async () => {
  const { container } = render(
    <MarkdownLines
      text={'**Bread**\nand butter\n\n![Oven](https://example.com/oven.png)<script>x</script>'}
    />,
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
