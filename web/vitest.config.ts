import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig, mergeConfig } from 'vitest/config';
import app from './vite.config.ts';

// A file whose tests need a document says so in its first line: // @vitest-environment jsdom
export default mergeConfig(
  app,
  defineConfig({
    plugins: [svelteTesting()],
    test: { include: ['{src,scripts}/**/*.test.ts'], restoreMocks: true }
  })
);
