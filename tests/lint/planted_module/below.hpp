#pragma once

int answer();
