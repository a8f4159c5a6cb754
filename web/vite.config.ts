import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import adapter from '@sveltejs/adapter-static';
import type { Adapter } from '@sveltejs/kit';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

const service = process.env.SERVICE_URL ?? 'http://127.0.0.1:8000';
const build = process.env.WEB_BUILD ?? 'build';

/** Static files, and beside them routes.json: the app's routes, by which the service knows its pages. */
function site(): Adapter {
  const files = adapter({ pages: build, fallback: 'index.html', precompress: true });
  return {
    ...files,
    async adapt(builder) {
      await files.adapt(builder);
      const pages = builder.routes.filter((route) => route.page.methods.length > 0);
      const routes = pages.map((route) => route.id.replaceAll(/\/\([^)]+\)/g, '') || '/');
      await writeFile(join(build, 'routes.json'), JSON.stringify(routes.sort(), null, 2));
    }
  };
}

export default defineConfig({
  plugins: [
    paraglideVitePlugin({
      project: './project.inlang',
      outdir: './src/paraglide',
      strategy: ['localStorage', 'preferredLanguage', 'baseLocale']
    }),
    sveltekit({ adapter: site() })
  ],
  server: {
    // The service beside the development server: the app calls both at one origin.
    proxy: { '^/(api|files)/': { target: service, ws: true } }
  }
});
