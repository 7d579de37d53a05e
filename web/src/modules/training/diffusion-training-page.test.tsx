import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { DiffusionTrainingPage } from './diffusion-training-page.tsx';

test('says that image models are not trained yet, and leads to what can be done', async () => {
  const router = createRouter({
    routeTree: createRootRoute({ component: DiffusionTrainingPage }),
    history: createMemoryHistory(),
  });
  render(<RouterProvider router={router as never} />);
  await screen.findByText('Training image models is not available yet');
  const leadsTo = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
  expect(leadsTo('Open the gallery')).toBe('/gallery');
  expect(leadsTo('Deploy an image model')).toBe('/my-deployments/images');
});
