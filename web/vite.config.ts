import { paraglideVitePlugin } from '@inlang/paraglide-js';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

const service = process.env.SERVICE_URL ?? 'http://127.0.0.1:8000';

export default defineConfig({
  plugins: [
    paraglideVitePlugin({
      project: './project.inlang',
      outdir: './src/paraglide',
      strategy: ['localStorage', 'preferredLanguage', 'baseLocale']
    }),
    sveltekit({
      adapter: adapter({ pages: process.env.WEB_BUILD ?? '../var/web', fallback: 'index.html', precompress: true })
    })
  ],
  server: {
    // The service beside the development server: the app calls both at one origin.
    proxy: { '^/(api|files)/': { target: service, ws: true } }
  }
});
