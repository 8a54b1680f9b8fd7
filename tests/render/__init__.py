"""Tests of the output formats: golden files, hostile text, random documents, narrow and poor streams."""
